import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { PlatformProblem } from '../sdk/platform.ts';
import {
  anyRows,
  currencyCode,
  epochSeconds,
  oneOf,
  partly,
  sha256Hex,
  someText,
  webAddress,
} from '../sdk/platform-schemas.ts';

const userData = Type.Object(
  {
    anonymousId: someText,
    em: Type.Optional(sha256Hex),
    ph: Type.Optional(sha256Hex),
    msclkid: Type.Optional(someText),
    externalId: Type.Optional(someText),
    clientIpAddress: Type.Optional(someText),
    clientUserAgent: Type.Optional(someText),
    idfa: Type.Optional(someText),
    gaid: Type.Optional(someText),
  },
  { additionalProperties: false },
);

const date = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\d$` });

const customData = partly({
  hotelData: partly({
    totalPrice: Type.Number(),
    basePrice: Type.Number(),
    checkInDate: date,
    checkOutDate: date,
    lengthOfStay: Type.Integer(),
    partnerHotelId: someText,
    bookingHref: someText,
  }),
  eventCategory: someText,
  eventLabel: someText,
  eventValue: Type.Number(),
  value: Type.Number(),
  pageType: oneOf('home', 'product', 'category', 'searchresults', 'cart', 'purchase', 'other'),
  ecommTotalValue: Type.Number(),
  ecommCategory: someText,
  currency: currencyCode,
  transactionId: someText,
  itemIds: Type.Array(someText),
  items: Type.Array(
    Type.Object({
      id: someText,
      name: Type.Optional(someText),
      price: Type.Optional(Type.Number()),
      quantity: Type.Optional(Type.Integer()),
    }),
  ),
  searchTerm: someText,
});

const row = Type.Object(
  {
    eventType: oneOf('pageLoad', 'custom'),
    eventId: Type.Optional(someText),
    eventName: Type.Optional(someText),
    eventTime: epochSeconds,
    eventSourceUrl: Type.Optional(webAddress),
    referrerUrl: Type.Optional(webAddress),
    pageTitle: Type.Optional(someText),
    pageLoadId: Type.Optional(someText),
    keywords: Type.Optional(someText),
    adStorageConsent: Type.Optional(oneOf('G', 'D')),
    userData,
    customData: Type.Optional(customData),
  },
  { additionalProperties: false },
);

const error = (details: readonly unknown[]) => ({
  eventsReceived: 0,
  error: { code: 'ValidationError', message: 'One or more events are invalid.', details },
  traceId: '0HN0000000000',
});

const detail = ({ field, message, row: index }: PlatformProblem) => ({
  index: index ?? -1,
  propertyName: field.split('.').slice(2).join('.') || field,
  attemptedValue: null,
  errorMessage: message,
  isWarning: false,
});

/**
 * UET Conversions API: with `continueOnValidationError`, Microsoft accepts the valid rows and refuses the others.
 * https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration
 */
export const bingAdsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/{tag}/events',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({
        data: anyRows,
        dataProvider: Type.Optional(someText),
        continueOnValidationError: Type.Literal(true),
      }),
      rows: [
        {
          at: 'data',
          schema: row,
          check(given) {
            const { eventType, eventName } = given as { eventType: string; eventName?: string };
            const isUnnamed = eventType === 'custom' && eventName === undefined;
            return isUnnamed ? { field: 'eventName', message: 'is required for custom events' } : undefined;
          },
        },
      ],
      rowsMax: 1_000,
      bytesMax: 1_000_000,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { eventsReceived: rows.length, traceId: '0HN0000000000' } }),
    partial: (verdicts) => ({
      status: 200,
      body: error(verdicts.flatMap(({ problem }) => (problem === undefined ? [] : detail(problem)))),
    }),
    refusal: (problem) => ({ status: 400, body: error([detail(problem)]) }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 401 },
  },
});
