export const personalKinds = [
  'email',
  'phone',
  'ip',
  'card',
  'iban',
  'national_id',
  'birth_date',
  'name',
  'address',
  'health',
  'secret',
] as const;
export type PersonalKind = (typeof personalKinds)[number];
