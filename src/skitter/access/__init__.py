"""Who may do what: keys with roles, and a record of what was changed and by whom."""

from skitter.access.audit import Audit, Entry
from skitter.access.keys import Key, Keys
from skitter.access.roles import Principal, Role

__all__ = ["Audit", "Entry", "Key", "Keys", "Principal", "Role"]
