/** As much of it as the benchmarks use: it brings no types. */
declare module "parquetjs-lite" {
  const parquet: {
    readonly ParquetSchema: new (fields: Record<string, { readonly type: string }>) => object
    readonly ParquetWriter: {
      openFile(schema: object, path: string): Promise<{ appendRow(row: object): Promise<void>; close(): Promise<void> }>
    }
  }
  export default parquet
}
