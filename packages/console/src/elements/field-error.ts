// An input that the page itself refuses.

/** Shown at the field of a form, as an error of the server. `path` is the one of the field, such as `/headers`. */
export class FieldError extends Error {
  readonly path: string
  constructor(path: string, message: string) {
    super(message)
    this.name = 'FieldError'
    this.path = path
  }
}
