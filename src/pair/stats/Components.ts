/** Strongly connected components (M. Sharir, 1981, "A strong-connectivity algorithm"), without recursion. */

export type Edge = readonly [from: number, to: number]

export const strong = (nodes: number, edges: ReadonlyArray<Edge>): Uint32Array => {
  const out: ReadonlyArray<Array<number>> = Array.from({ length: nodes }, () => [])
  const back: ReadonlyArray<Array<number>> = Array.from({ length: nodes }, () => [])
  for (const [from, to] of edges) {
    out[from]!.push(to)
    back[to]!.push(from)
  }
  const isSeen = new Uint8Array(nodes)
  const finished: Array<number> = []
  for (let root = 0; root < nodes; root++) {
    if (isSeen[root] === 1) continue
    isSeen[root] = 1
    const path = [{ node: root, at: 0 }]
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = out[top.node]![top.at++]
      if (next === undefined) {
        finished.push(top.node)
        path.pop()
      } else if (isSeen[next] === 0) {
        isSeen[next] = 1
        path.push({ node: next, at: 0 })
      }
    }
  }
  const component = new Uint32Array(nodes)
  isSeen.fill(0)
  let count = 0
  for (const root of finished.toReversed()) {
    if (isSeen[root] === 1) continue
    isSeen[root] = 1
    const waiting = [root]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      component[node] = count
      for (const next of back[node]!) {
        if (isSeen[next] === 1) continue
        isSeen[next] = 1
        waiting.push(next)
      }
    }
    count++
  }
  return component
}

/** The connected component of each node, for edges without a direction. */
export const weak = (nodes: number, edges: ReadonlyArray<Edge>): Uint32Array =>
  strong(nodes, [...edges, ...edges.map(([from, to]): Edge => [to, from])])
