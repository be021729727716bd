/** As much of it as the tests use: it brings no types. */
declare module "@20minutes/s3rver" {
  export default class S3rver {
    constructor(options: {
      readonly address: string
      readonly port: number
      readonly silent: boolean
      readonly directory: string
      readonly allowMismatchedSignatures?: boolean
      readonly configureBuckets?: ReadonlyArray<{ readonly name: string }>
    })
    run(): Promise<{ readonly port: number }>
  }
}
