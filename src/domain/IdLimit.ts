/**
 * How long an id may be: an item's, and a task's at the service.
 *
 * Guarantees: an id within the limit fits into an index of every database of the ledger;
 * a row of PostgreSQL's has 2,704 bytes, and an id's stands there with other columns.
 */

/** In UTF-8. */
export const mostBytes = 1000

/** The limit, for people. */
export const limit = "1,000 bytes"

const encoder = new TextEncoder()

// No unit of UTF-16 takes more than three bytes.
export const fits = (id: string): boolean => id.length * 3 <= mostBytes || encoder.encode(id).length <= mostBytes
