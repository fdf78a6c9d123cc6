import type { TSchema } from 'typebox';
import { definePlatform, noCredentials } from './platform.ts';
import type { Platform, PlatformAnswers, PlatformCredentials } from './platform.ts';

type PixelDeclaration = {
  /** Path suffix, as in `PlatformEndpoint`. */
  readonly path: string;
  /** Query parameters, whose values are text. */
  readonly query?: TSchema;
  readonly credentials?: PlatformCredentials;
  /** Responses that carry more than a status, which is rare for pixels and postbacks. */
  readonly answers?: Partial<PlatformAnswers>;
};

/** A platform that receives events as GET requests and responds with a status. */
export function definePixelPlatform({ path, query, credentials, answers }: PixelDeclaration): Platform {
  return definePlatform({
    endpoints: [
      {
        method: 'GET',
        path,
        credentials: credentials ?? noCredentials,
        content: 'none',
        ...(query === undefined ? {} : { query }),
      },
    ],
    answers: {
      success: () => ({ status: 200 }),
      refusal: ({ field, message }) => ({ status: 400, body: `${field} ${message}` }),
      throttled: { status: 429 },
      endedToken: { status: 403 },
      ...answers,
    },
  });
}
