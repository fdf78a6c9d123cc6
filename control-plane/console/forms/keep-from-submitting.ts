import type { KeyboardEvent } from 'react';

/** For a search field inside a form, in which Enter would otherwise save the form. */
export function keepFromSubmitting(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}
