/** Cuts long texts out of the text of a record. The long texts are stored separately. */
export interface Cut {
  readonly rest: string
  /** For each text: offset and encoding, such as `120j` (`j`: JSON), or `-` if it was not cut out of the record. */
  readonly places: string
}

const encodings = {
  v: (text: string): string => text,
  j: (text: string): string => JSON.stringify(text).slice(1, -1),
  c: (text: string): string => text.replaceAll('"', '""'),
}

type Encoding = keyof typeof encodings

const isEncoding = (name: string): name is Encoding => Object.hasOwn(encodings, name)

const minCutLength = 16

export const cut = (record: string, texts: ReadonlyArray<string>): Cut => {
  let rest = record
  const places = texts.map((text) => {
    if (text.length < minCutLength) return "-"
    for (const [name, encode] of Object.entries(encodings)) {
      const encoded = encode(text)
      const at = rest.indexOf(encoded)
      if (at === -1) continue
      rest = rest.slice(0, at) + rest.slice(at + encoded.length)
      return `${at}${name}`
    }
    return "-"
  })
  return { rest, places: places.join(" ") }
}

export const restore = ({ places, rest }: Cut, texts: ReadonlyArray<string>): string => {
  let record = rest
  const all = places.split(" ")
  for (let i = texts.length - 1; i >= 0; i--) {
    const place = all[i] ?? "-"
    const name = place.slice(-1)
    if (!isEncoding(name)) continue
    const at = Number(place.slice(0, -1))
    record = record.slice(0, at) + encodings[name](texts[i]!) + record.slice(at)
  }
  return record
}
