/**
 * Cohen's kappa of two raters: κ = (P − Pe) / (1 − Pe). P is the share of pairs of ratings that agree. Pe is the share
 * that would agree by chance. It follows from how often each rater uses each category. 1 is perfect agreement, and 0 is
 * chance. Source: J. Cohen, 1960, "A coefficient of agreement for nominal scales", Educational and Psychological
 * Measurement 20.
 *
 * Guarantees: pairs may have weights. `table` contains the sum of weights for each pair of categories, row by row. Its
 * rows are the first rater's categories. Without pairs, both results are null. If both raters use only one category,
 * and the same one, kappa is null.
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
