/** Images in texts: image data, and https images of allowed hosts. SVG data is not shown: SVG can contain scripts. */

const dataUri = /data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}/g
const wholeDataUri = new RegExp(`^${dataUri.source}$`)

export interface Allowed {
  readonly hosts: ReadonlyArray<string>
  /** Prefix of the handles for image data. It is random, so that no text can forge a handle. Null: no handles. */
  readonly handles: string | null
}

export const handles = `data:image/png;base64,#${crypto.getRandomValues(new Uint32Array(2)).join("-")}-`

const images = new Map<string, string>()
let last = 0

const isHandle = (address: string, beginning: string | null) =>
  beginning !== null && address.startsWith(beginning) && /^\d+$/.test(address.slice(beginning.length))

export const isShown = (address: string, { handles, hosts }: Allowed): boolean => {
  if (isHandle(address, handles) || wholeDataUri.test(address)) return true
  const url = URL.parse(address)
  return url?.protocol === "https:" && hosts.includes(url.host)
}

/** Replaces image data in texts with short handles. Call `end` when the texts are no longer shown. */
export const shortening = () => {
  const names = new Map<string, string>()
  return {
    shorten: (text: string) =>
      text.replaceAll(dataUri, (address) => {
        const name = names.get(address) ?? `${handles}${++last}`
        names.set(address, name)
        images.set(name, address)
        return name
      }),
    end: () => {
      for (const name of names.values()) images.delete(name)
    },
  }
}

export const resolve = (address: string): string => (isHandle(address, handles) ? (images.get(address) ?? "") : address)

export const withoutData = (text: string): string => text.replaceAll(dataUri, "…")
