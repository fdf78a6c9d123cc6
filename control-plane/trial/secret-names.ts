const secretWords = /auth|token|secret|passw|pwd|signature|credential|cookie|session|key(?!word)|^sig$|-sig$/i;
const plainNames: ReadonlySet<string> = new Set(['idempotency-key']);

/** Whether the name of a header or a query parameter says that its value is for nobody to read. */
export function isSecretName(name: string): boolean {
  return secretWords.test(name) && !plainNames.has(name.toLowerCase());
}
