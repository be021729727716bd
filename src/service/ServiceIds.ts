/** The identifiers of services that `AnnotationService` provides. Programs pass them on; the members are internal. */

/** The accounts of the operators. `signInLink` uses them. */
export interface Accounts {
  readonly "~prefstream/Accounts": never
}

/** The organization's access tokens. `createToken` uses them. */
export interface Tokens {
  readonly "~prefstream/Tokens": never
}
