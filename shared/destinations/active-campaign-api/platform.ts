import { Type } from 'typebox';
import { definePlatform, inBody, inHeader } from '../sdk/platform.ts';
import { someText } from '../sdk/platform-schemas.ts';

/**
 * ActiveCampaign: the API for contacts (https://developers.activecampaign.com/reference/sync-a-contacts-data), and the
 * tracker, which responds 200 even to refused events (https://developers.activecampaign.com/reference/track-event).
 */
export const activeCampaignApiPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/api/3/contact/sync',
      credentials: inHeader('api-token', /^\S+$/),
      content: 'json',
      body: Type.Object({
        contact: Type.Object({
          email: Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$' }),
          fieldValues: Type.Optional(
            Type.Array(Type.Object({ field: Type.String({ pattern: '^[0-9]+$' }), value: Type.String() })),
          ),
        }),
      }),
      answers: {
        success: () => ({ status: 200, body: { contact: { id: '1' } } }),
        refusal: ({ field, message }) => ({ status: 422, body: { errors: [{ title: `${field} ${message}` }] } }),
        endedToken: { status: 403, body: { message: 'You do not have permission to do that' } },
      },
    },
    {
      method: 'POST',
      path: '/api/3/import/bulk_import',
      credentials: inHeader('api-token', /^\S+$/),
      content: 'json',
      body: Type.Object({
        contacts: Type.Array(
          Type.Object({
            email: Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$' }),
            tags: Type.Optional(Type.Array(someText, { minItems: 1 })),
            subscribe: Type.Optional(Type.Array(Type.Object({ listid: Type.Integer() }), { minItems: 1 })),
            unsubscribe: Type.Optional(Type.Array(Type.Object({ listid: Type.Integer() }), { minItems: 1 })),
          }),
          { minItems: 1, maxItems: 250 },
        ),
      }),
      answers: {
        success: () => ({ status: 200, body: { success: 1, queued_contacts: 1, batchId: '1', message: 'queued' } }),
        refusal: ({ field, message }) => ({ status: 400, body: { success: 0, message: `${field} ${message}` } }),
        endedToken: { status: 403, body: { message: 'You do not have permission to do that' } },
      },
    },
    {
      method: 'POST',
      path: '/event',
      credentials: inBody('key'),
      content: 'form',
      body: Type.Object({
        actid: someText,
        event: Type.String({ minLength: 1, maxLength: 32 }),
        eventdata: Type.Optional(Type.String()),
        visit: Type.String({ pattern: '^\\{"email":".+@.+"\\}$' }),
      }),
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { success: 1, message: 'Event spawned' } }),
    refusal: ({ field, message }) => ({ status: 200, body: { success: 0, message: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 200, body: { success: 0, message: 'Invalid key' } },
  },
});
