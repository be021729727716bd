/** Types for files that Vite imports, and for Trusted Types. */
declare module "*?worker&url" {
  const url: string
  export default url
}

declare module "katex/dist/katex.min.css" {}

/** Undefined in browsers that do not support Trusted Types. */
declare const trustedTypes:
  | {
      readonly createPolicy: (
        name: string,
        rules: { readonly createScriptURL: (url: string) => string },
      ) => { readonly createScriptURL: (url: string) => string }
    }
  | undefined
