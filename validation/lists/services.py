"""Create lists, take their parts, and change their states."""

from validation.models import AddressList
from validation.models.list_states import State, states_before


def change_state(address_list: AddressList, new: State, **changes: object) -> bool:
    """Change the state, unless another state came first. Return whether it changed."""
    rows = AddressList.objects.filter(pk=address_list.pk, state__in=states_before(new))
    if not rows.update(state=new, **changes):
        return False
    for name, value in {"state": new, **changes}.items():
        setattr(address_list, name, value)
    return True
