"""Which mailboxes belong to a role, and which are not read."""

from pathlib import Path

import pytest

from engine.domain_data import DomainData

DATA = DomainData()
# Common given and family names of many countries, and those that are a role in some language.
NAMES = (Path(__file__).parent / "personal_names.txt").read_text().split()


@pytest.mark.parametrize(
    "name",
    [
        *("contacto", "soporte", "ventas", "compras", "atencion", "facturacion", "reclamaciones"),
        *("contato", "suporte", "vendas", "atendimento", "financeiro", "faturamento", "rh"),
        *("comptabilite", "accueil", "recrutement", "commandes", "serviceclient", "facturation"),
        *(
            "segreteria",
            "amministrazione",
            "assistenza",
            "acquisti",
            "fatturazione",
            "prenotazioni",
        ),
        *("buero", "buchhaltung", "bestellung", "rechnung", "bewerbung", "kundenservice"),
        *("kantoor", "administratie", "klantenservice", "verkoop", "inkoop", "facturen"),
        *("kontakt", "biuro", "sekretariat", "ksiegowosc", "zamowienia", "reklamacje"),
        *("objednavky", "podpora", "fakturace", "obchod", "ugyfelszolgalat", "szamlazas"),
        *("vanzari", "facturare", "prodaja", "racunovodstvo", "podrska", "poliseis"),
        *("kundtjanst", "forsaljning", "ekonomi", "kundeservice", "regnskap", "bogholderi"),
        *("asiakaspalvelu", "myynti", "laskutus", "tellimus", "pardavimai", "gramatvediba"),
        *("iletisim", "destek", "satis", "muhasebe", "insankaynaklari", "siparis", "bilgi"),
        *("toiawase", "otoiawase", "eigyo", "saiyo", "soumu", "yoyaku", "uketsuke"),
        *("buhgalteria", "zakaz", "prodazhi", "otdel.kadrov", "sekretar", "schetovodstvo"),
        *("salg", "kancelar", "uctarna", "admisiones"),
        *("layanan", "keuangan", "hotro", "tuyendung", "kefu", "zhaopin"),
        *("info", "sales", "postmaster", "abuse", "webmaster", "billing"),
        # Separators between words are ignored.
        *("customer.service", "customer_service", "human-resources", "recursos.humanos"),
        "service-client",
    ],
)
def test_role_account_is_recognized_in_many_languages(name: str) -> None:
    assert DATA.is_role_account(name)


@pytest.mark.parametrize(
    "name",
    [
        *("mail", "hello", "test", "me", "home", "jane", "it", "ceo", "director", "personal"),
        # Initials before a name.
        *("p.ress", "s.ales", "m-edia", "r_oot", ".info", "info.", "a.dmin"),
    ],
)
def test_personal_mailbox_is_not_a_role_account(name: str) -> None:
    assert not DATA.is_role_account(name)


@pytest.mark.parametrize(
    "name",
    [
        *("spam", "phishing", "fbl", "devnull", "nobody", "alerts", "ads", "everyone", "whois"),
        *("principal", "headteacher", "ithelp", "it-help"),
    ],
)
def test_technical_and_school_role_account_is_recognized(name: str) -> None:
    assert DATA.is_role_account(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "info2",
            "info-2",
            "office01",
            "customer-service3",
            "sales-emea",
            "sales.uk",
            "support_us",
        ),
        *("human-resources-apac", "vendas-latam"),
    ],
)
def test_branch_of_a_role_account_is_recognized(name: str) -> None:
    assert DATA.is_role_account(name)


@pytest.mark.parametrize(
    "name",
    [
        *("hr2", "pr1", "info85", "sales1985", "info-", "2info", "jane2", "jane-emea", "null"),
        *("de.sales", "info-jane", "sales-x", "p.ress2"),
    ],
)
def test_other_number_or_word_is_no_branch(name: str) -> None:
    assert not DATA.is_role_account(name)


def test_no_personal_name_is_a_role_account() -> None:
    assert not DATA.role_accounts & {*NAMES}
    assert not DATA.no_reply & {*NAMES}
    assert not DATA.placeholders & {*NAMES}


@pytest.mark.parametrize(
    "name",
    [
        *("noreply", "no-reply", "no.reply", "no_reply", "donotreply", "do-not-reply"),
        *("orders-noreply", "no-responder", "nao-responda", "ne-pas-repondre", "non.rispondere"),
        *("nicht-antworten", "niet-beantwoorden", "nie-odpowiadaj", "neodpovidat", "svara-ej"),
        *(
            "ikke-svar",
            "yanitlamayin",
            "cevap-vermeyin",
            "ala_vastaa",
            "jangan-balas",
            "khongtraloi",
        ),
    ],
)
def test_no_reply_mailbox_is_recognized(name: str) -> None:
    assert DATA.is_no_reply(name)


@pytest.mark.parametrize("name", ["reply", "no", "jane", "know-reply", "noreplyx", "not.a.reply"])
def test_other_mailbox_is_not_no_reply(name: str) -> None:
    assert not DATA.is_no_reply(name)


@pytest.mark.parametrize(
    "name",
    [
        *("none", "noemail", "no-email", "no_email", "no.mail", "n/a", "test", "test123", "asdf"),
        *("test.user", "qwerty", "123456", "aaaa", "fake-email", "your.name", "not-provided"),
        *("sin-correo", "pasdemail", "keine.email", "nao-tem-email", "geen-email"),
    ],
)
def test_placeholder_is_recognized(name: str) -> None:
    assert DATA.is_placeholder(name)


@pytest.mark.parametrize(
    "name",
    [
        *("jane", "na", "no", "n.one", "t.est", "mail", "email", "hello", "info", "spam", "user"),
        *("testa", "contest", "jane.test", "aa", "12", "abc-shop", "www"),
    ],
)
def test_mailbox_that_people_have_is_not_a_placeholder(name: str) -> None:
    assert not DATA.is_placeholder(name)
