from validation.models import AddressList


def parse_list(address_list: AddressList) -> None:
    raise NotImplementedError
