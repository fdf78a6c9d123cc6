export type LibraryCall = {
  /** Address of the API with its base path: `http://…/api/v1`. */
  readonly baseUrl: string;
  readonly path: string;
  readonly body: object;
  /** Maximum number of tries after the first. */
  readonly retriesMax: number;
  /** The library's name for its runtime: `node` or `browser:chrome`. */
  readonly runtime: string;
};

export type LibraryAnswer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** The header `retry-after`; null if it is missing or hidden from the page by CORS. */
  readonly retryAfter: string | null;
  readonly tries: number;
};

/**
 * Makes a request like the ingest library of the specified service (1.17.2, which is not in the package registry):
 * with all its headers, with retries after 408, 409, 429, any 5xx and broken connections, delayed by `Retry-After`.
 * Self-contained, so that a page can run it too.
 */
export async function callAsLibrary(call: LibraryCall): Promise<LibraryAnswer> {
  const { baseUrl, path, body, retriesMax, runtime } = call;
  const send = (retry: number): Promise<Response> =>
    fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'OursPrivacy/JS 1.17.2',
        'x-stainless-retry-count': String(retry),
        'x-stainless-timeout': '60',
        'x-stainless-lang': 'js',
        'x-stainless-package-version': '1.17.2',
        'x-stainless-os': 'Linux',
        'x-stainless-arch': 'x64',
        'x-stainless-runtime': runtime,
        'x-stainless-runtime-version': '24.0.0',
      },
      body: JSON.stringify(body),
    });
  const isWorthTrying = (status: number): boolean => [408, 409, 429].includes(status) || status >= 500;
  for (let retry = 0; ; retry += 1) {
    const answer = await send(retry).catch((error: unknown) =>
      retry < retriesMax ? undefined : Promise.reject(error),
    );
    const isLast = retry >= retriesMax || (answer !== undefined && !isWorthTrying(answer.status));
    const retryAfter = answer?.headers.get('retry-after') ?? null;
    if (answer !== undefined && isLast) {
      const said = (await answer.json()) as LibraryAnswer['body'];
      return { status: answer.status, body: said, retryAfter, tries: retry + 1 };
    }
    const waitMs = retryAfter === null ? 500 * 2 ** retry : Number(retryAfter) * 1_000;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
