/** Types of files that Vite imports. */
declare module "*?worker&url" {
  /** Where the worker's script is. */
  const url: string
  export default url
}

/** Put into the page when it is imported. */
declare module "katex/dist/katex.min.css" {}

/**
 * Trusted Types, where the browser has them. What `createScriptURL` gives is a type of its own,
 * taken wherever a string is.
 */
declare const trustedTypes:
  | {
      readonly createPolicy: (
        name: string,
        rules: { readonly createScriptURL: (url: string) => string },
      ) => { readonly createScriptURL: (url: string) => string }
    }
  | undefined
