/**
 * Orders rows so that neighboring rows have different prompts. KTO trainers combine each prompt with the completion of
 * the previous row, as an example of a completion for another prompt. In TRL 1.10 (trl/trainer/kto_trainer.py), both
 * rows are in one batch. In LLaMA-Factory 0.9.6 (data/processor/feedback.py), both are in one block of 1,000 rows. The
 * order does not consider batches that are divided among several processes. At most 32 MB of rows are in memory.
 */
import * as Sha256 from "../node/Sha256.ts"

const maxDistance = 1000

const maxBytes = 32 * 1024 * 1024

const rowBytes = 500

interface Prompt<Row> {
  readonly key: number
  readonly rows: Array<{ readonly row: Row; readonly size: number }>
  last: number
}

interface Entry<Row> {
  readonly prompt: Prompt<Row>
  readonly row: Row
}

export const make = <Row>() => {
  const prompts = new Map<number, Prompt<Row>>()
  const ready: Array<Set<Prompt<Row>>> = []
  const recent = new Set<Prompt<Row>>()
  let distance = maxDistance
  let position = 0
  let bytes = 0

  const makeReady = (prompt: Prompt<Row>) => (ready[prompt.rows.length] ??= new Set()).add(prompt)

  const choose = (): Prompt<Row> | undefined => {
    for (const prompt of recent) {
      if (position - prompt.last < distance) break
      recent.delete(prompt)
      if (prompt.rows.length > 0) makeReady(prompt)
      else prompts.delete(prompt.key)
    }
    while (ready.length > 0) {
      for (const prompt of ready.at(-1) ?? []) {
        ready.at(-1)!.delete(prompt)
        return prompt
      }
      ready.pop()
    }
    for (const prompt of recent) if (prompt.rows.length > 0) return prompt
    return undefined
  }

  const next = (): Entry<Row> | undefined => {
    const prompt = choose()
    if (prompt === undefined) return undefined
    const { key, rows } = prompt
    // Chosen completions come first in `rows`. The prompt's hash picks a row, to mix chosen and rejected completions.
    const drawn = key % rows.length
    const { row, size } = rows[drawn]!
    const end = rows.pop()!
    if (drawn < rows.length) rows[drawn] = end
    bytes -= size + rowBytes
    prompt.last = position++
    recent.delete(prompt)
    recent.add(prompt)
    return { prompt, row }
  }

  let lastText: string | undefined
  let key = 0

  return {
    add: (text: string, row: Row, size: number): ReadonlyArray<Row> => {
      if (text !== lastText) key = Sha256.leading52Bits(text)
      lastText = text
      let prompt = prompts.get(key)
      if (prompt === undefined) prompts.set(key, (prompt = { key, rows: [], last: -Infinity }))
      ready[prompt.rows.length]?.delete(prompt)
      prompt.rows.push({ row, size })
      if (!recent.has(prompt)) makeReady(prompt)
      bytes += size + rowBytes
      const rows: Array<Row> = []
      // oxlint-disable-next-line no-unmodified-loop-condition -- `next` subtracts from it
      while (bytes > maxBytes) rows.push(next()!.row)
      return rows
    },
    end: (): ReadonlyArray<Row> => {
      const counts = Array.from(prompts.values(), ({ rows }) => rows.length).filter((count) => count > 0)
      const most = counts.reduce((a, b) => Math.max(a, b), 0)
      const total = counts.reduce((a, b) => a + b, 0)
      const room = (total - counts.filter((count) => count === most).length) / (most - 1)
      distance = most < 2 ? maxDistance : Math.max(2, Math.min(maxDistance, Math.floor(room)))
      const offset = position
      const entries: Array<Entry<Row>> = []
      for (let entry = next(); entry !== undefined; entry = next()) entries.push(entry)
      if (distance < maxDistance) separate(entries, offset)
      return entries.map(({ row }) => row)
    },
  }
}

const maxComparisons = 1_000_000

const isCommonBatchSize = (size: number) => (size & (size - 1)) === 0 || size % 10 === 0

const separate = <Row>(entries: Array<Entry<Row>>, offset: number): void => {
  const places = new Map<Prompt<Row>, Array<number>>()
  entries.forEach(({ prompt }, i) => {
    const indices = places.get(prompt)
    if (indices === undefined) places.set(prompt, [i])
    else indices.push(i)
  })
  const last = offset + entries.length - 1
  let comparisons = 0

  const costOfTwo = (start: number, end: number): { readonly near: number; readonly neighbors: number } => {
    const size = end - start + 1
    let neighbors = size === 2 ? 1_000_000 : 0
    for (let batch = size; batch <= (end === last ? maxDistance : size); batch++) {
      if (start % batch === 0) neighbors += isCommonBatchSize(batch) ? 1000 : 2
    }
    return { near: 20 / size, neighbors }
  }

  const costOf = (prompt: Prompt<Row>) => {
    const own = places.get(prompt)!
    let near = 0
    let neighbors = 0
    for (let i = 1; i < own.length; i++) {
      for (let j = 0; j < i; j++) {
        comparisons++
        const start = offset + Math.min(own[i]!, own[j]!)
        const end = offset + Math.max(own[i]!, own[j]!)
        if (end - start >= maxDistance) continue
        const cost = costOfTwo(start, end)
        near += cost.near
        neighbors += cost.neighbors
      }
    }
    return { neighbors, total: near + neighbors }
  }

  const swap = (i: number, j: number) => {
    const [one, other] = [entries[i]!, entries[j]!]
    entries[i] = other
    entries[j] = one
    const [ofOne, ofOther] = [places.get(one.prompt)!, places.get(other.prompt)!]
    ofOne[ofOne.indexOf(i)] = j
    ofOther[ofOther.indexOf(j)] = i
  }

  for (let i = 0; i < entries.length; i++) {
    for (let step = 1; step < entries.length; step++) {
      const { prompt } = entries[i]!
      const cost = costOf(prompt)
      if (cost.neighbors === 0 || comparisons > maxComparisons) break
      for (const j of [i + step, i - step]) {
        const other = entries[j]?.prompt
        if (other === undefined || other === prompt) continue
        const before = costOf(prompt).total + costOf(other).total
        swap(i, j)
        if (costOf(prompt).total + costOf(other).total < before) break
        swap(i, j)
      }
    }
  }
}
