import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('validation', '0013_log_account_without_constraint'),
    ]

    operations = [
        migrations.AlterField(
            model_name='logentry',
            name='key',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='apikeys.apikey'),
        ),
    ]
