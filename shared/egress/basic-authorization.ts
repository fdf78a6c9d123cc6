/** The value of an Authorization header that names a user and a password: RFC 7617, in UTF-8. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}
