import fc from 'fast-check';

const codePoint = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10_ffff }),
  )
  .map((point) => String.fromCodePoint(point));

/**
 * Texts of any code points. fast-check's unit `binary` would first list all code points, which takes each process 0.7 s
 * and 100 MB.
 */
export const anyText = (lengths: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  fc.string({ unit: codePoint, ...lengths });
