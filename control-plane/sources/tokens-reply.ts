import { Type } from 'typebox';

/** A source's keys as they are answered. */
export const tokensReply = Type.Object({
  token: Type.String(),
  testToken: Type.String({ description: 'Events sent with it are validated and never dispatched.' }),
});
