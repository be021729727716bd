/** What a page gives its text worker to do. */
export type Job =
  | { readonly _tag: "render"; readonly text: string; readonly below: number }
  | { readonly _tag: "compare"; readonly left: string; readonly right: string }
