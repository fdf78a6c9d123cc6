import type { TSchema } from 'typebox';
import { definePlatform, noCredentials } from './platform.ts';
import type { Platform, PlatformAnswers, PlatformCredentials } from './platform.ts';

type PixelDeclaration = {
  /** The end of the path, as `PlatformEndpoint` has it. */
  readonly path: string;
  /** Parameters of the address, whose values are texts. */
  readonly query?: TSchema;
  readonly credentials?: PlatformCredentials;
  /** Where they are other than a status: pixels and postbacks say little. */
  readonly answers?: Partial<PlatformAnswers>;
};

/** A platform that receives events by a GET, and answers with a status. */
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
