"""What any Django service needs and no customer sees: database, cache, logging, metrics, jobs, mail."""
