/**
 * Cohen's kappa of two raters: κ = (P − Pe) / (1 − Pe). P is the share of equal ratings, and Pe is the share of equal
 * ratings by chance (J. Cohen, 1960, "A coefficient of agreement for nominal scales").
 */

export const of = (table: Float64Array, categories: number) => {
  const [rows, columns] = [new Float64Array(categories), new Float64Array(categories)]
  let [equal, total] = [0, 0]
  for (let cell = 0; cell < table.length; cell++) {
    const [weight, row, column] = [table[cell]!, Math.floor(cell / categories), cell % categories]
    rows[row]! += weight
    columns[column]! += weight
    total += weight
    if (row === column) equal += weight
  }
  if (total === 0) return { agreement: null, kappa: null }
  const chance = rows.reduce((sum, weight, category) => sum + weight * columns[category]!, 0) / total ** 2
  const agreement = equal / total
  return { agreement, kappa: 1 - chance < 1e-12 ? null : (agreement - chance) / (1 - chance) }
}
