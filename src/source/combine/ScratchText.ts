/**
 * A record's text without the long texts that are stored separately, so that nothing is stored twice.
 *
 * Guarantees: `restore` returns exactly what was given to `cut`.
 */
export interface Cut {
  /** What is left of the record. */
  readonly rest: string
  /** Where each text was in what is left, and how it was written: `120j 14v`. A dash is one that stayed. */
  readonly places: string
}

/** How a text may be written in a record: as it is, in JSON, in a quoted cell of CSV. */
const writings = {
  v: (text: string): string => text,
  j: (text: string): string => JSON.stringify(text).slice(1, -1),
  c: (text: string): string => text.replaceAll('"', '""'),
}

type Writing = keyof typeof writings

const isWriting = (name: string): name is Writing => Object.hasOwn(writings, name)

/** Shorter texts are not worth a search. */
const minLength = 16

export const cut = (record: string, texts: ReadonlyArray<string>): Cut => {
  let rest = record
  const places = texts.map((text) => {
    if (text.length < minLength) return "-"
    for (const [name, write] of Object.entries(writings)) {
      const written = write(text)
      const at = rest.indexOf(written)
      if (at === -1) continue
      rest = rest.slice(0, at) + rest.slice(at + written.length)
      return `${at}${name}`
    }
    return "-"
  })
  return { rest, places: places.join(" ") }
}

/** @param texts those that were given to `cut` */
export const restore = ({ places, rest }: Cut, texts: ReadonlyArray<string>): string => {
  let record = rest
  const all = places.split(" ")
  for (let i = texts.length - 1; i >= 0; i--) {
    const place = all[i] ?? "-"
    const name = place.slice(-1)
    if (!isWriting(name)) continue
    const at = Number(place.slice(0, -1))
    record = record.slice(0, at) + writings[name](texts[i]!) + record.slice(at)
  }
  return record
}
