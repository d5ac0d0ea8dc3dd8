from django.contrib import admin

from lists.models import AddressList
from lists.staff.lists import AddressListAdmin

admin.site.register(AddressList, AddressListAdmin)
