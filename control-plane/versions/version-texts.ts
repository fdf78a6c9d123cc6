import { Type } from 'typebox';

export const versionName = Type.String({ minLength: 1, maxLength: 250 });
export const versionNotes = Type.String({ maxLength: 10_000 });
