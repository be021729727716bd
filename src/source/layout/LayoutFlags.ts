/**
 * What users call the parts of a layout: messages name the flag that sets a part.
 */
import type { LayoutOptions } from "./Layout.ts"

export const flags = {
  layout: "--layout",
  id: "--id-path",
  prompt: "--prompt-path",
  system: "--system-path",
  completions: "--completions-path",
  completion: "--completion-path",
  key: "--key",
  model: "--model-path",
  gold: "--gold-path",
  metadata: "--metadata-path",
  keep: "--keep",
} as const satisfies { readonly [option in keyof LayoutOptions]?: string }
