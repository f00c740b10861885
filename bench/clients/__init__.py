"""What an HTTP client costs for each page, and whether it does what a crawler needs of it.

Each client runs in a process of its own and fetches the same page of 15 kB, sixteen at a time, over
kept connections, plain and with TLS. CPU is that of the whole process with all its threads, without
the start. Then it is asked for what a polite crawler needs: headers as given, every Set-Cookie, no
redirect behind its back, a body left in the middle, a fetch that is cancelled.
"""
