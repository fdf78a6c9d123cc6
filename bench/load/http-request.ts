/** The bytes of one HTTP/1.1 POST, made once and written many times. */
export function postRequest(url: URL, body: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
