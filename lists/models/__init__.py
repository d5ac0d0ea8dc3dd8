from lists.models.daily_limits import ListSample, ListUpload
from lists.models.domains import DomainBlock, ListDomain, with_progress
from lists.models.erased_addresses import ErasedAddress
from lists.models.lists import AddressList, ParsedList
from lists.models.result_counts import ResultCounts
from lists.models.rows import ListAddress, ListChunk, ListPart
