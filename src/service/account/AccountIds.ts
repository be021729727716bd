/** The identifiers of the services that `AnnotationService` provides to programs. Their members are internal. */

/** The accounts of the operators. `signInLink` uses them. */
export interface Accounts {
  /** Only distinguishes the type. */
  readonly "~prefstream/Accounts": never
}

/** The organization's access tokens. `createToken` uses them. */
export interface Tokens {
  /** Only distinguishes the type. */
  readonly "~prefstream/Tokens": never
}
