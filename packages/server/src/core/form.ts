// HTML forms in request bodies.

/** The content type of a form that has no files. */
export const formType = 'application/x-www-form-urlencoded'

type FormRequest = { headers: { 'content-type'?: string | undefined }; body: unknown }

/** True if the body of a request is announced as a form. */
export const isForm = ({ headers }: Pick<FormRequest, 'headers'>): boolean =>
  String(headers['content-type']).toLowerCase().startsWith(formType)

/** The fields of a form. The body arrives as bytes, or as the error that refused it, which is thrown. */
export function readForm({ body }: FormRequest): URLSearchParams {
  if (body instanceof Error) throw body
  return new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : '')
}
