/** Whether a JetStream answer says that the stream or consumer does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Error && /(stream|consumer) not found/.test(error.message);
}
