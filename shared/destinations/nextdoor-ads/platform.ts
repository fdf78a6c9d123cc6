import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { platformEvents } from '../sdk/platform-events.ts';
import { epochSeconds, oneOf, partly, sha256Hex, someText, webAddress } from '../sdk/platform-schemas.ts';

const { names, others } = platformEvents.NextdoorAds;

const conversion = Type.Object({
  event_name: oneOf(...Object.values(names), ...others),
  event_id: someText,
  event_time_epoch: epochSeconds,
  action_source: oneOf('website', 'app', 'phone_call', 'chat', 'email', 'physical_store', 'system_generated', 'other'),
  action_source_url: Type.Optional(webAddress),
  app: Type.Optional(
    Type.Object({
      app_id: someText,
      platform: oneOf('ios', 'android'),
      app_tracking_enabled: Type.Optional(Type.Boolean()),
      app_version: Type.Optional(someText),
    }),
  ),
  data_source_id: someText,
  delivery_optimization: Type.Boolean(),
  test_event: oneOf('true', 'false'),
  customer: partly({
    email: sha256Hex,
    phone_number: sha256Hex,
    first_name: sha256Hex,
    last_name: sha256Hex,
    city: sha256Hex,
    state: sha256Hex,
    zip_code: sha256Hex,
    country: sha256Hex,
    external_id: sha256Hex,
    click_id: someText,
    client_ip_address: someText,
    client_user_agent: someText,
  }),
  custom: Type.Optional(
    partly({
      order_value: Type.String({ pattern: String.raw`^[A-Z]{3}\d+(\.\d+)?$` }),
      order_id: someText,
      product_context: Type.Array(partly({ id: someText, item_price: Type.Number(), quantity: Type.Integer() })),
    }),
  ),
});

/** Conversions of Nextdoor, one per request. https://developer.nextdoor.com/reference/conversions-track */
export const nextdoorAdsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v2/api/conversions/track',
      credentials: inHeader(),
      content: 'json',
      body: conversion,
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { success: true } }),
    refusal: ({ field, message }) => ({ status: 400, body: { errors: [{ field, message }] } }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 401, body: { message: 'Unauthorized' } },
  },
});
