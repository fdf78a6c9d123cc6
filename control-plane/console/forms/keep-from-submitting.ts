import type { KeyboardEvent } from 'react';

/** Enter in a search field inside a form would save the form. */
export function keepFromSubmitting(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}
