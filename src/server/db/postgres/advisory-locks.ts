// The advisory locks of PostgreSQL that processes of Roomkeeper take, with their keys.

/** "Room". Servers hold it together; a command that needs the database for itself, and version 0.1, hold it alone. */
export const serverLockKey = 0x526f6f6d

/** The first of two keys; the second is the id of a row in `nodes`. A node holds the lock of its row while it lives. */
export const nodeLockClass = 0x526f6f6e

/** Stands in the place of a node's id: nodes that take a row take turns, so that each sees the rows of the others. */
export const joiningLockId = 0
