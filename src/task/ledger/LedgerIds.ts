/** The identifiers of the ledger's services. Their methods are internal. */

/** The durable record of a job, for the process that runs the job. */
export interface Ledger {
  /** Tells TypeScript that no other type is a `Ledger`. The member does not exist at run time. */
  readonly "~prefstream/Ledger": never
}

/** Reads the record of a job, even while another process runs the job. */
export interface LedgerReader {
  /** Tells TypeScript that no other type is a `LedgerReader`. The member does not exist at run time. */
  readonly "~prefstream/LedgerReader": never
}
