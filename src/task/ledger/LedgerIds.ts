/** The identifiers of the ledger's services. Their methods are internal. */

/** The durable record of a job, for the process that runs the job. */
export interface Ledger {
  /** Only distinguishes the type. */
  readonly "~prefstream/Ledger": never
}

/** The record of a job for reading, even while another process runs the job. */
export interface LedgerReader {
  /** Only distinguishes the type. */
  readonly "~prefstream/LedgerReader": never
}
