/**
 * Images in texts: which are shown, and handles in place of long addresses.
 *
 * Guarantees: an image is shown only if its data are in the text (PNG, JPEG, GIF, or WebP, at most 2 MB) or if the
 * service allows its host, over https. SVG is never shown, because it is a document.
 */

const dataUri = /data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}/g
const wholeDataUri = new RegExp(`^${dataUri.source}$`)
const handle = /^data:image\/png;base64,#\d+$/
/** Maximum characters of 2 MB in base64. */
const maxCharacters = Math.ceil((2 * 1024 * 1024) / 3) * 4 + 30

/** The image of each handle, for the texts of the current item. */
let images = new Map<string, string>()

export const isShown = (address: string, hosts: ReadonlyArray<string>): boolean => {
  if (handle.test(address)) return true
  if (address.startsWith("data:")) return address.length <= maxCharacters && wholeDataUri.test(address)
  const url = URL.parse(address)
  return url?.protocol === "https:" && hosts.includes(url.host)
}

/**
 * Returns a function that replaces the images in a text by handles, so that the text can be shortened, compared, and
 * rendered like another. Handles of earlier calls end.
 */
export const shortening = (): ((text: string) => string) => {
  images = new Map()
  return (text) =>
    text.replaceAll(dataUri, (address) => {
      if (!isShown(address, [])) return address.slice(0, 60)
      const name = `data:image/png;base64,#${images.size}`
      images.set(name, address)
      return name
    })
}

/** Returns the image that a handle stands for. */
export const resolve = (address: string): string => (handle.test(address) ? (images.get(address) ?? "") : address)
