/** Types of the services that `AnnotationService` provides to programs. The types hide the members of the services. */

/** The accounts of the operators. `signInLink` uses them. */
export interface Accounts {
  /** Distinguishes this type from other types. */
  readonly "~prefstream/Accounts": never
}

/** The organization's access tokens. `createToken` uses them. */
export interface Tokens {
  /** Distinguishes this type from other types. */
  readonly "~prefstream/Tokens": never
}
