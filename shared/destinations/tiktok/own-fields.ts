import type { JsonObject } from '../../runtime/json.ts';
import { numberOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { present } from '../sdk/json.ts';
import { ownParameters } from '../sdk/own-properties.ts';

/**
 * TikTok's travel and vehicle parameters, from properties of the same names. Only an event with such parameters sends
 * locations, because in other events a location may be a person's.
 * https://business-api.tiktok.com/portal/docs?id=1771101151059969
 */
export function tiktokOwnFields(event: SentEvent): JsonObject {
  const journey = { ...ownParameters(event, ofJourneys), ...listsOf(event) };
  const vehicle = { ...ownParameters(event, ofVehicles), ...ranges(event) };
  return {
    ...journey,
    ...(Object.keys(journey).length > 0 ? ownParameters(event, ['city', 'region', 'country']) : {}),
    ...vehicle,
    ...(Object.keys(vehicle).length > 0 ? ownParameters(event, ['postal_code']) : {}),
  };
}

const ofJourneys = [
  'checkin_date',
  'checkout_date',
  'num_adults',
  'num_children',
  'num_infants',
  'departing_departure_date',
  'returning_departure_date',
  'departing_arrival_date',
  'returning_arrival_date',
  'origin_airport',
  'destination_airport',
  'travel_class',
  'user_score',
  'preferred_num_stops',
  'travel_start',
  'travel_end',
] as const;

const ofVehicles = [
  'make',
  'state_of_vehicle',
  'exterior_color',
  'interior_color',
  'transmission',
  'body_style',
  'fuel_type',
  'drivetrain',
  'trim',
  'vin',
  'condition_of_vehicle',
  'viewcontent_type',
  'search_type',
  'registration_type',
] as const;

const lists = ['suggested_hotels', 'destination_ids', 'suggested_destinations'] as const;
const listMax = 100;

function listsOf({ properties }: SentEvent): JsonObject {
  const given = lists.flatMap((name) => {
    const value = properties[name];
    const texts = Array.isArray(value) ? value.flatMap((one) => textOf(one) ?? []).slice(0, listMax) : [];
    return texts.length === 0 ? [] : [[name, texts] as const];
  });
  return Object.fromEntries(given);
}

/** Model, year, mileage and preferred price of a vehicle; empty if the event names no vehicle (`make` or `vin`). */
function ranges(event: SentEvent): JsonObject {
  const { properties } = event;
  if (properties['make'] === undefined && properties['vin'] === undefined) return {};
  const [value, unit] = [numberOf(properties['mileage_value']), textOf(properties['mileage_unit'])];
  const [min, max] = ['min', 'max'].map((end) => numberOf(properties[`preferred_price_range_${end}`]));
  return {
    ...ownParameters(event, ['model', 'year']),
    ...present({
      mileage: value === undefined || unit === undefined ? undefined : { value, unit },
      preferred_price_range: min === undefined || max === undefined ? undefined : [min, max],
    }),
  };
}
