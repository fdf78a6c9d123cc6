import { Type } from 'typebox';
import { googleRefusals } from '../sdk/google-answers.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, currencyCode, instant, oneOf, partly, sha256Hex, someText } from '../sdk/platform-schemas.ts';

const account = Type.Object({
  accountType: oneOf('GOOGLE_ADS', 'FLOODLIGHT_CONFIG'),
  accountId: Type.String({ pattern: String.raw`^\d+$` }),
});

const userIdentifier = Type.Union([
  Type.Object({ emailAddress: sha256Hex }, { additionalProperties: false }),
  Type.Object({ phoneNumber: sha256Hex }, { additionalProperties: false }),
  Type.Object(
    {
      address: Type.Object({
        givenName: sha256Hex,
        familyName: sha256Hex,
        regionCode: Type.String({ pattern: '^[A-Z]{2}$' }),
        postalCode: someText,
      }),
    },
    { additionalProperties: false },
  ),
]);

const consentStatus = oneOf('CONSENT_GRANTED', 'CONSENT_DENIED');

const row = Type.Object(
  {
    transactionId: Type.String({ minLength: 1, maxLength: 512 }),
    eventTimestamp: instant,
    eventSource: oneOf('WEB', 'APP', 'IN_STORE', 'PHONE', 'OTHER'),
    adIdentifiers: Type.Optional(
      partly({
        gclid: someText,
        gbraid: someText,
        sessionAttributes: someText,
        wbraid: someText,
        dclid: someText,
        impressionId: someText,
        matchId: someText,
        mobileDeviceId: someText,
      }),
    ),
    userData: Type.Optional(
      Type.Object({ userIdentifiers: Type.Array(userIdentifier, { minItems: 1, maxItems: 10 }) }),
    ),
    consent: Type.Optional(partly({ adUserData: consentStatus, adPersonalization: consentStatus })),
    conversionValue: Type.Optional(Type.Number()),
    currency: Type.Optional(currencyCode),
    // As in https://github.com/googleapis/googleapis/blob/master/google/ads/datamanager/v1/event.proto.
    customVariables: Type.Optional(
      Type.Array(Type.Object({ variable: someText, value: Type.String() }, { additionalProperties: false })),
    ),
    cartData: Type.Optional(
      Type.Object(
        {
          merchantId: Type.String({ pattern: String.raw`^\d+$` }),
          merchantFeedLabel: someText,
          merchantFeedLanguageCode: Type.String({ pattern: '^[a-z]{2}$' }),
          transactionDiscount: Type.Optional(Type.Number()),
          items: Type.Array(
            Type.Object(
              {
                merchantProductId: someText,
                quantity: Type.Integer({ minimum: 1 }),
                unitPrice: Type.Number(),
              },
              { additionalProperties: false },
            ),
            { minItems: 1 },
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/**
 * Ingestion of events: Google refuses the whole request because of one invalid event.
 * https://developers.google.com/data-manager/api/reference/rest/v1/events/ingest
 */
export const dataManagerPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/events:ingest',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({
        destinations: Type.Array(
          Type.Object({
            operatingAccount: account,
            loginAccount: Type.Optional(account),
            productDestinationId: someText,
          }),
          { minItems: 1, maxItems: 10 },
        ),
        encoding: oneOf('HEX', 'BASE64'),
        validateOnly: Type.Optional(Type.Boolean()),
        events: anyRows,
      }),
      rows: [{ at: 'events', schema: row }],
      rowsMax: 2_000,
    },
  ],
  answers: { success: () => ({ status: 200, body: { requestId: 'aBcDeFgHiJkL' } }), ...googleRefusals },
});
