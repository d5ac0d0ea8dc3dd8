"""What any Django service needs and no customer sees."""
